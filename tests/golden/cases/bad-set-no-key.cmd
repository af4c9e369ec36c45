fabricast check $SCENARIOS/hello.yaml --set =3
