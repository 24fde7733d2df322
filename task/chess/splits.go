package chess

import (
	"fmt"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task"
)

// bucketPretrain holds the positions that a pre-training corpus may use. It is no split: no task ever offers it.
const bucketPretrain = "pretrain"

func splits() []whale.Split {
	return []whale.Split{whale.SplitTrain, whale.SplitSearch, whale.SplitValidation, whale.SplitTest}
}

// generatedBuckets and fileBuckets decide where a position belongs, by its normal form alone and so for every seed and every setting alike. A file
// keeps nothing for pre-training, since whoever has it wants to train on it.
func generatedBuckets() task.Buckets {
	return task.Buckets{
		{Name: bucketPretrain, Percent: 40},
		{Name: string(whale.SplitTrain), Percent: 25},
		{Name: string(whale.SplitSearch), Percent: 12},
		{Name: string(whale.SplitValidation), Percent: 8},
		{Name: string(whale.SplitTest), Percent: 15},
	}
}

func fileBuckets() task.Buckets {
	return task.Buckets{
		{Name: string(whale.SplitTrain), Percent: 55},
		{Name: string(whale.SplitSearch), Percent: 15},
		{Name: string(whale.SplitValidation), Percent: 15},
		{Name: string(whale.SplitTest), Percent: 15},
	}
}

// Counts says how many examples each split has.
type Counts = task.Counts

// maxCount bounds a split; the whole Lichess file has some five million puzzles.
const maxCount = 1 << 20

func validateCounts(c Counts, key string) error {
	all := 0
	for _, s := range splits() {
		n, _ := c.Of(s)
		if n < 0 || n > maxCount {
			return fmt.Errorf("%s.%s: got %d, want 0 to %d", key, s, n, maxCount)
		}
		all += n
	}
	if all == 0 {
		return fmt.Errorf("%s: got no puzzles in any split, want some", key)
	}
	return nil
}
