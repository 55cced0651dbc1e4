// Package help prints what commands of daemok are for and how they are used.
//
// It promises to name commands as the user called the program, by itself or as a plugin of kubectl, and to list the
// flags that are kubectl's apart from a command's own. It does not write the texts of commands.
package help
