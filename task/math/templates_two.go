package math

// twoStep lists the wordings of two operations; the second one uses the result of the first.
func twoStep() []template {
	return []template{
		{id: "sum-times", text: "What is ({a} + {b}) * {c}?", formula: "(a+b)*c", bare: true},
		{id: "minus-over", text: "What is ({a} - {b}) / {c}?", formula: "(a-b)/c", bare: true},
		{id: "product-minus", text: "What is {a} * {b} - {c}?", formula: "(a*b)-c", bare: true},
		{id: "less-product", text: "What is {c} - {a} * {b}?", formula: "c-(a*b)", bare: true},
		{id: "add-then-multiply", text: "Add {a} and {b}, then multiply the result by {c}.", formula: "(a+b)*c", bare: true},
		{id: "multiply-then-add", text: "Multiply {a} by {b}, then add {c}.", formula: "(a*b)+c", bare: true},
		{id: "subtract-then-multiply", text: "Subtract {b} from {a}, then multiply the result by {c}.", formula: "(a-b)*c", bare: true},
		{id: "divide-then-add", text: "Divide {a} by {b}, then add {c}.", formula: "(a/b)+c", bare: true},

		{id: "find-lose", text: "{name} has {a} {things} and finds {b} more, then loses {c}. How many {things} does {name} have now?", formula: "(a+b)-c"},
		{id: "three-days", text: "{name} reads {a} pages on Monday, {b} on Tuesday and {c} on Friday. How many pages is that in all?", formula: "(a+b)+c"},
		{id: "give-buy", text: "{name} has {a} {things}, gives {b} to {other}, then buys {c} more. How many {things} does {name} have now?", formula: "(a-b)+c"},
		{id: "train", text: "There are {a} people on a train. Then {b} get off and {c} get on. How many people are on the train now?", formula: "(a-b)+c"},
		{id: "trip-stops", text: "A trip is {a} miles long. {name} goes {b} miles, then {c} miles more. How many miles are left?", formula: "(a-b)-c"},
		{id: "boxes-find", text: "{name} has {a} boxes with {b} {things} each, then finds {c} more. How many {things} does {name} have now?", formula: "(a*b)+c"},
		{id: "drive-on", text: "{name} drives {a} miles an hour for {b} hours, then {c} miles more. How many miles is that in all?", formula: "(a*b)+c"},
		{id: "bags-give", text: "{name} buys {a} bags of {b} {things}, then gives {c} to {other}. How many of those {things} are left?", formula: "(a*b)-c"},
		{id: "earn-spend", text: "{name} works {a} hours for {b} dollars an hour, then spends {c} dollars. How many of those dollars are left?", formula: "(a*b)-c"},
		{id: "change", text: "{name} has {c} dollars and buys {a} tickets for {b} dollars each. How many dollars are left?", formula: "c-(a*b)"},
		{id: "sell-bags", text: "A shop has {c} {things} and sells {a} bags of {b}. How many {things} are left?", formula: "c-(a*b)"},
		{id: "two-colors", text: "Each box holds {a} red and {b} blue {things}. How many {things} are in {c} boxes?", formula: "(a+b)*c"},
		{id: "day-and-night", text: "Each day {name} walks {a} meters, then {b} meters more. How many meters is that in {c} days?", formula: "(a+b)*c"},
		{id: "daily-gain", text: "Each day {name} gets {a} {things} and sells {b}. How many {things} does {name} gain in {c} days?", formula: "(a-b)*c"},
		{id: "shelves", text: "A shop has {a} shelves with {b} boxes each. Each box holds {c} {things}. How many {things} is that?", formula: "(a*b)*c"},
		{id: "pool-share", text: "{name} has {a} {things} and {other} has {b}. They put all of them in {c} equal bags. How many {things} are in each bag?", formula: "(a+b)/c"},
		{id: "lose-share", text: "{name} has {a} {things}, loses {b}, then shares the rest equally among {c} friends. How many {things} does each friend get?", formula: "(a-b)/c"},
		{id: "boxes-share", text: "{name} shares {a} boxes of {b} {things} equally among {c} friends. How many {things} does each friend get?", formula: "(a*b)/c"},
		{id: "price-each", text: "{b} tickets cost {a} dollars in all. How many dollars do {c} tickets cost?", formula: "(a/b)*c"},
		{id: "row-grows", text: "There are {a} {things} in {b} equal rows. {name} adds {c} to the first row. How many {things} are in it now?", formula: "(a/b)+c"},
		{id: "row-shrinks", text: "There are {a} {things} in {b} equal rows. {name} takes {c} from the first row. How many {things} are left in it?", formula: "(a/b)-c"},
	}
}
