fabricast help import
