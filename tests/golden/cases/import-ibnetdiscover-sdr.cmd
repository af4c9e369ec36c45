fabricast import import/ibnetdiscover-sdr.txt
