package audit

import (
	"math/big"
	"strings"

	"go.starlark.net/syntax"
)

// collectLiterals takes every literal of a tree, and its comments; docstrings count as comments.
func collectLiterals(p *program, file *syntax.File) {
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			return false
		}
		collectComments(p, n.Comments())
		switch n := n.(type) {
		case *syntax.ExprStmt:
			if l, ok := n.X.(*syntax.Literal); ok && l.Token == syntax.STRING {
				p.addText(atom{text: l.Value.(string), at: at(l.TokenPos), from: comment, doc: true})
				return false
			}
		case *syntax.Ident:
			// Names are words, too: a program can read those of keyword arguments, and people and proposers read them all.
			if strings.Contains(strings.Trim(n.Name, "_"), "_") {
				p.addText(atom{text: strings.ReplaceAll(n.Name, "_", " "), at: at(n.NamePos), from: comment})
			}
		case *syntax.Literal:
			switch v := n.Value.(type) {
			case string:
				p.addText(atom{text: v, at: at(n.TokenPos)})
			case int64:
				p.addNumber(number{n: big.NewInt(v), at: at(n.TokenPos)})
			case *big.Int:
				p.addNumber(number{n: v, at: at(n.TokenPos)})
			}
		}
		return true
	})
}

func collectComments(p *program, c *syntax.Comments) {
	if c == nil {
		return
	}
	for _, list := range [][]syntax.Comment{c.Before, c.Suffix, c.After} {
		for _, one := range list {
			p.addText(atom{text: strings.TrimLeft(one.Text, "# "), at: at(one.Start), from: comment})
		}
	}
}
