module example.org/dependency

go 1.26.0
