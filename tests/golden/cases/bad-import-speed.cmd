sed 's/ 4xEDR$//' import/ibnetdiscover-edr.txt | fabricast import -
