sed 's/target="0000:15/target="0000:99/' import/rccl-mi300x.xml | fabricast import -
