package math

// oneStep lists the wordings of one operation.
func oneStep() []template {
	return []template{
		{id: "sum", text: "What is {a} + {b}?", formula: "a+b", bare: true},
		{id: "add", text: "Add {a} and {b}.", formula: "a+b", bare: true},
		{id: "sum-of", text: "What is the sum of {a} and {b}?", formula: "a+b", bare: true},
		{id: "minus", text: "What is {a} - {b}?", formula: "a-b", bare: true},
		{id: "subtract", text: "Subtract {b} from {a}.", formula: "a-b", bare: true},
		{id: "take-away", text: "Take {b} away from {a}.", formula: "a-b", bare: true},
		{id: "product", text: "What is {a} * {b}?", formula: "a*b", bare: true},
		{id: "multiply", text: "Multiply {a} by {b}.", formula: "a*b", bare: true},
		{id: "quotient", text: "What is {a} / {b}?", formula: "a/b", bare: true},
		{id: "divide", text: "Divide {a} by {b}.", formula: "a/b", bare: true},

		{id: "find", text: "{name} has {a} {things} and finds {b} more. How many {things} does {name} have now?", formula: "a+b"},
		{id: "two-boxes", text: "There are {a} {things} in one box and {b} in another. How many {things} are there in all?", formula: "a+b"},
		{id: "together", text: "{name} has {a} {things} and {other} has {b}. How many {things} do they have together?", formula: "a+b"},
		{id: "walk-on", text: "{name} walks {a} meters, then {b} meters more. How many meters is that in all?", formula: "a+b"},
		{id: "two-prices", text: "A chair costs {a} dollars and a lamp costs {b} dollars. How many dollars do both cost?", formula: "a+b"},
		{id: "at-first", text: "{name} gives {b} {things} to {other} and has {a} left. How many {things} did {name} have at first?", formula: "a+b"},

		{id: "give", text: "{name} has {a} {things} and gives {b} to {other}. How many {things} does {name} have left?", formula: "a-b"},
		{id: "sell", text: "A shop has {a} {things} and sells {b}. How many {things} are left?", formula: "a-b"},
		{id: "more-than", text: "{name} has {a} {things} and {other} has {b}. How many more {things} does {name} have?", formula: "a-b"},
		{id: "gain", text: "{name} had {b} {things} and now has {a}. How many {things} did {name} get?", formula: "a-b"},
		{id: "trip-left", text: "A trip is {a} miles long. {name} has gone {b} miles. How many miles are left?", formula: "a-b"},
		{id: "price-gap", text: "A bike costs {a} dollars. {name} has {b} dollars. How many more dollars does {name} need?", formula: "a-b"},

		{id: "boxes", text: "{name} has {a} boxes with {b} {things} each. How many {things} does {name} have?", formula: "a*b"},
		{id: "in-each", text: "There are {b} {things} in each of {a} bags. How many {things} are there in all?", formula: "a*b"},
		{id: "tickets", text: "One ticket costs {b} dollars. How many dollars do {a} tickets cost?", formula: "a*b"},
		{id: "hours", text: "A car goes {a} miles in one hour. How many miles does it go in {b} hours?", formula: "a*b"},
		{id: "pages", text: "{name} reads {a} pages a day. How many pages does {name} read in {b} days?", formula: "a*b"},

		{id: "share", text: "{name} shares {a} {things} equally among {b} friends. How many {things} does each friend get?", formula: "a/b"},
		{id: "pack", text: "{name} packs {a} {things} in boxes of {b}. How many boxes does {name} fill?", formula: "a/b"},
		{id: "one-ticket", text: "{name} pays {a} dollars for {b} tickets. How many dollars does one ticket cost?", formula: "a/b"},
		{id: "one-hour", text: "A train goes {a} miles in {b} hours. How many miles does it go in one hour?", formula: "a/b"},
		{id: "rows", text: "There are {a} {things} in {b} equal rows. How many {things} are in each row?", formula: "a/b"},
	}
}
