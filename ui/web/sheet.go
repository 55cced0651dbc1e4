package web

import (
	"github.com/daemok/daemok/ui/page"
	"github.com/daemok/daemok/ui/text"
)

// rowsMost is how many rows of a table a browser gets; the others are counted.
const rowsMost = 300

// sheet is a page of blocks as a browser gets it. Its texts are as they were: the browser makes no markup of them.
type sheet struct {
	Title  string  `json:"title"`
	Note   string  `json:"note,omitempty"`
	Blocks []block `json:"blocks"`
}

type block struct {
	Heading string   `json:"heading,omitempty"`
	Tone    string   `json:"tone,omitempty"`
	Lines   [][]cell `json:"lines,omitempty"`
	Columns []column `json:"columns,omitempty"`
	Rows    [][]cell `json:"rows,omitempty"`
	More    int      `json:"more,omitempty"` // rows that are left out
	After   [][]cell `json:"after,omitempty"`
	Detail  bool     `json:"detail,omitempty"`
}

type column struct {
	Title string `json:"title"`
	Right bool   `json:"right,omitempty"`
}

type cell struct {
	Text string `json:"text"`
	Tone string `json:"tone,omitempty"`
}

func sheetOf(p *page.Page) sheet {
	out := sheet{Title: p.Title, Note: p.Note, Blocks: []block{}}
	for i := range p.Blocks {
		b := &p.Blocks[i]
		t := b.Table.WithoutEmpty()
		rows := t.Rows[:min(len(t.Rows), rowsMost)]
		one := block{
			Heading: b.Heading, Tone: page.Class(b.Tone), Lines: cells(b.Lines), Rows: cells(rows),
			More: len(t.Rows) - len(rows), After: cells(b.After), Detail: b.Detail,
		}
		for _, c := range t.Columns {
			one.Columns = append(one.Columns, column{c.Title, c.Right})
		}
		out.Blocks = append(out.Blocks, one)
	}
	return out
}

func cells(lines [][]text.Cell) [][]cell {
	out := make([][]cell, len(lines))
	for i, line := range lines {
		out[i] = make([]cell, len(line))
		for j, c := range line {
			out[i][j] = cell{c.Text, page.Class(c.Tone)}
		}
	}
	return out
}
