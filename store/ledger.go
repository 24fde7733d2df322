package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
)

// Item is one entry of the ledger: what was spent, by counter (rollouts, prompt_tokens, seconds, …), for which purpose
// (weight, search, evaluation, …). Counters are sums over a run; counts below 2^53 add up exactly.
type Item struct {
	Purpose  string
	Counters map[string]float64
}

// Charge adds an item to the ledger and returns once it is durable. The same op is charged once: again with an equal item
// it does nothing, with a different one it is an [ErrConflict]. Amounts are finite and not negative.
func (r *Run) Charge(ctx context.Context, op string, item Item) error {
	b := new(Batch)
	b.Charge(op, item)
	return r.Commit(ctx, b)
}

// Ledger returns what was spent, by purpose and counter.
func (r *Run) Ledger(ctx context.Context) (map[string]map[string]float64, error) {
	where := filepath.Join(r.dir, journalName)
	rows, err := r.readers.QueryContext(ctx, "SELECT purpose, counter, amount FROM totals")
	if err != nil {
		return nil, classify(where, err)
	}
	defer rows.Close()
	ledger := map[string]map[string]float64{}
	for rows.Next() {
		var purpose, counter string
		var amount float64
		if err := rows.Scan(&purpose, &counter, &amount); err != nil {
			return nil, classify(where, err)
		}
		if ledger[purpose] == nil {
			ledger[purpose] = map[string]float64{}
		}
		ledger[purpose][counter] = amount
	}
	return ledger, classify(where, rows.Err())
}

type chargeOp struct {
	op       string
	item     Item
	counters string // JSON, keys sorted
}

func newChargeOp(op string, item Item) (*chargeOp, error) {
	if op == "" || item.Purpose == "" {
		return nil, fmt.Errorf("charge: got op %q and purpose %q, want both", op, item.Purpose)
	}
	if len(item.Counters) == 0 {
		return nil, errors.New("charge " + op + ": got no counters")
	}
	for name, amount := range item.Counters {
		if name == "" || math.IsNaN(amount) || math.IsInf(amount, 0) || amount < 0 {
			return nil, fmt.Errorf("charge %q: counter %q: got %v, want a finite number, not negative", op, name, amount)
		}
	}
	counters, err := json.Marshal(item.Counters)
	if err != nil {
		return nil, fmt.Errorf("charge %q: %w", op, err)
	}
	// The caller may reuse its map before the writer gets to it.
	own := make(map[string]float64, len(item.Counters))
	for name, amount := range item.Counters {
		own[name] = amount
	}
	return &chargeOp{op: op, item: Item{item.Purpose, own}, counters: string(counters)}, nil
}

func (o *chargeOp) apply(ctx context.Context, w *writer) error {
	made, err := w.insert(ctx, "INSERT INTO charges (op, purpose, counters, at) VALUES (?, ?, ?, ?) ON CONFLICT (op) DO NOTHING",
		o.op, o.item.Purpose, o.counters, w.now().UnixNano())
	if err != nil {
		return err
	}
	if made {
		for name, amount := range o.item.Counters {
			w.group.charged = append(w.group.charged, charged{total{o.item.Purpose, name}, amount})
		}
		return nil
	}
	var purpose, counters string
	if _, err := w.queryRow(ctx, "SELECT purpose, counters FROM charges WHERE op = ?", []any{o.op}, []any{&purpose, &counters}); err != nil {
		return err
	}
	if purpose != o.item.Purpose || counters != o.counters {
		return refuse("charge %q: %w: the ledger has %s %s, got %s %s", o.op, ErrConflict,
			purpose, clip(counters), o.item.Purpose, clip(o.counters))
	}
	return nil
}

// total names a sum of the ledger.
type total struct{ purpose, counter string }

// charged is what one charge adds to a sum.
type charged struct {
	total
	amount float64
}

// addTotals adds the group's charges to the ledger's sums, each sum once.
func (w *writer) addTotals(ctx context.Context) error {
	sums := map[total]float64{}
	var order []total
	for _, c := range w.group.charged {
		if _, seen := sums[c.total]; !seen {
			order = append(order, c.total)
		}
		sums[c.total] += c.amount
	}
	for _, t := range order {
		if err := w.exec(ctx, "INSERT INTO totals (purpose, counter, amount) VALUES (?, ?, ?) "+
			"ON CONFLICT (purpose, counter) DO UPDATE SET amount = amount + excluded.amount", t.purpose, t.counter, sums[t]); err != nil {
			return err
		}
	}
	return nil
}
