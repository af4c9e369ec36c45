fabricast sweep $SCENARIOS/ddp-2b-4nodes-200g.yaml --vary job.global_batch=32,33 --set job.micro_batch=1 >/dev/null; for q in sweeps sweep-best sweep-problems; do fabricast query $q; done
