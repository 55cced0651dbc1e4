module github.com/daemok/daemok/planted

go 1.26.0

require example.org/dependency v0.0.0

replace example.org/dependency => ./dependency
