fabricast describe fidelity
