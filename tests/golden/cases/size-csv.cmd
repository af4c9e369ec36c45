fabricast size $SCENARIOS/hello.yaml --vary job.micro_batch=1..4:x2 --target 'mfu>=30%' --format csv
