fabricast describe | sed -E 's/^(fabric|route|fidelity|congestion|algorithm|collectives|compute|shape|job)( +).*/\1\2.../'
