sed 1,10d import/ibnetdiscover-edr.txt | fabricast import -
