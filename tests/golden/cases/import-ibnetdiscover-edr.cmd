fabricast import import/ibnetdiscover-edr.txt
