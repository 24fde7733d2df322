package chess

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-095d5d2b/whale/task/chess/bitboard"
	"github.com/seed-095d5d2b/whale/task/rows"
)

// The columns of Lichess's puzzle file that are read, by their names in its header; others do not matter.
const (
	columnID     = "PuzzleId"
	columnFEN    = "FEN" // before the move that the opponent plays first
	columnMoves  = "Moves"
	columnRating = "Rating"
	columnThemes = "Themes"
)

// rowBytes bounds a row. Real ones have some two hundred bytes.
const rowBytes = 64 << 10

// readLichess streams puzzle files through a sampler. Rows that the filters leave out are not looked at any further, so a bad one among them is no bad
// row. It gives what people should know of the files.
func readLichess(ctx context.Context, o LichessOptions, s *sampler) (notes []string, err error) {
	for _, path := range o.Files {
		told, err := readFile(ctx, path, o, s)
		if err != nil {
			return nil, fmt.Errorf("chess: lichess.files: %w", err)
		}
		notes = append(notes, told...)
	}
	return notes, nil
}

func readFile(ctx context.Context, path string, o LichessOptions, s *sampler) ([]string, error) {
	share := o.MaxBad
	if share == 0 {
		share = -1 // none; its zero means the default
	}
	r, err := rows.Open(path, rows.Options{RowBytes: rowBytes, BadShare: share, Format: rows.FormatCSV})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.Notes(), nil
		}
		if err != nil {
			return nil, err
		}
		if n == 0 {
			if err := checkColumns(path, row.Names()); err != nil {
				return nil, err
			}
		}
		p, ok, err := o.read(row)
		if err == nil && ok {
			err = s.add(p)
		}
		if err != nil {
			if err := r.Bad(row, err); err != nil {
				return nil, err
			}
		}
	}
}

func checkColumns(path string, names []string) error {
	for _, want := range []string{columnID, columnFEN, columnMoves, columnRating, columnThemes} {
		if !slices.Contains(names, want) {
			return fmt.Errorf("%s: got no column %q in the header (columns: %s)", path, want, clip(strings.Join(names, ", ")))
		}
	}
	return nil
}

// read gives the puzzle of a row, and whether the filters want it. The trigger has been played; the rest of the line is not checked yet.
func (o LichessOptions) read(row rows.Row) (p Puzzle, ok bool, err error) {
	var text [5]string
	for i, column := range []string{columnID, columnFEN, columnMoves, columnRating, columnThemes} {
		if text[i], err = row.Text(column); err != nil {
			return p, false, err
		}
	}
	id, fen, moves, themes := text[0], text[1], strings.Fields(text[2]), strings.Fields(text[4])
	rating, err := strconv.Atoi(text[3])
	if err != nil {
		return p, false, fmt.Errorf("%s: got %q, want an integer", columnRating, clip(text[3]))
	}
	if len(moves) < 2 || len(moves)%2 != 0 || len(moves) > maxLine+1 {
		return p, false, fmt.Errorf("%s: got %d moves, want an even number of 2 to %d", columnMoves, len(moves), maxLine)
	}
	has := func(theme string) bool { return slices.Contains(themes, theme) }
	if !o.Rating.has(rating) || !o.Moves.has(len(moves)/2) || len(o.Themes) > 0 && !slices.ContainsFunc(o.Themes, has) || slices.ContainsFunc(o.Without, has) {
		return p, false, nil
	}
	before, err := bitboard.Parse(fen)
	if err != nil {
		return p, false, err
	}
	trigger, err := bitboard.ParseMove(moves[0])
	if err != nil {
		return p, false, fmt.Errorf("%s: %w", columnMoves, err)
	}
	if !before.IsLegal(trigger) {
		return p, false, fmt.Errorf("%s: got %s, which is not legal in %q", columnMoves, trigger, fen)
	}
	after := before.Make(trigger)
	kind := "win"
	if has("mate") {
		kind = "mate"
	}
	return Puzzle{FEN: after.FEN(), Trigger: moves[0], Line: moves[1:], Meta: map[string]string{
		MetaKind: kind, MetaThemes: strings.Join(themes, " "), MetaRating: text[3], MetaSource: filepath.Base(row.File()), MetaSourceID: id,
	}}, true, nil
}
