fabricast import import/hwloc-sl390s.xml
