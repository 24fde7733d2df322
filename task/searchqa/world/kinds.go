package world

// Kind says what an article is about.
type Kind string

// The kinds of article.
const (
	KindPerson  Kind = "person"
	KindCompany Kind = "company"
	KindWork    Kind = "work"
	KindTown    Kind = "town"
	KindCountry Kind = "country"
	KindLetter  Kind = "letter" // repeats a question about an article, without its answer
)

// share is a part of the articles.
type share struct {
	kind    Kind
	percent int
}

// shares in the order in which articles are made.
func shares() []share {
	return []share{{KindCountry, 6}, {KindTown, 22}, {KindPerson, 36}, {KindCompany, 16}, {KindWork, 20}}
}

// relation is something that an article may state about its subject. It is a function: a subject has one object.
//
// {s} stands for the subject, {o} for the object. In a question and in a phrase {s} may be a name, or a phrase that names another article
// by its relation to a third ("the author of …"): so two hops are two relations, one put into the other.
type relation struct {
	id        string
	of        Kind
	to        Kind // the kind of article that the object is; "" = a value
	values    func() []string
	sentences []string
	questions []string
	phrases   []string // how the object is named by its subject; none for values
}

// The special ways in which values are drawn.
const (
	drawYear = "year"
	drawWord = "word"
)

func relations() []relation {
	return []relation{
		{
			id: "birthplace", of: KindPerson, to: KindTown,
			sentences: []string{"{s} was born in {o}.", "{o} is the birthplace of {s}."},
			questions: []string{"Where was {s} born?", "In which town was {s} born?", "What is the birthplace of {s}?"},
			phrases:   []string{"the birthplace of {s}", "the town where {s} was born"},
		},
		{
			id: "teacher", of: KindPerson, to: KindPerson,
			sentences: []string{"{s} was a pupil of {o}.", "{o} taught {s}.", "{s} studied under {o}."},
			questions: []string{"Who taught {s}?", "Who was the teacher of {s}?"},
			phrases:   []string{"the teacher of {s}"},
		},
		{
			id: "employer", of: KindPerson, to: KindCompany,
			sentences: []string{"{s} works for {o}.", "{s} has a post at {o}."},
			questions: []string{"Which company does {s} work for?", "Who is the employer of {s}?"},
			phrases:   []string{"the company that {s} works for", "the employer of {s}"},
		},
		{
			id: "born", of: KindPerson, values: func() []string { return []string{drawYear} },
			sentences: []string{"{s} came into the world in {o}.", "{o} is the year of birth of {s}."},
			questions: []string{"In which year was {s} born?", "When was {s} born?"},
		},
		{
			id: "instrument", of: KindPerson, values: instruments,
			sentences: []string{"{s} played the {o}.", "{s} was good at the {o}."},
			questions: []string{"Which instrument did {s} play?", "What did {s} play?"},
		},
		{
			id: "founder", of: KindCompany, to: KindPerson,
			sentences: []string{"{s} was founded by {o}.", "{o} started {s}."},
			questions: []string{"Who founded {s}?", "Who was the founder of {s}?"},
			phrases:   []string{"the founder of {s}"},
		},
		{
			id: "seat", of: KindCompany, to: KindTown,
			sentences: []string{"{s} is based in {o}.", "The seat of {s} is {o}."},
			questions: []string{"Where is {s} based?", "In which town is {s} based?"},
			phrases:   []string{"the town where {s} is based"},
		},
		{
			id: "product", of: KindCompany, values: products,
			sentences: []string{"{s} makes {o}.", "{s} sells {o}."},
			questions: []string{"What does {s} make?", "What is the product of {s}?"},
		},
		{
			id: "opened", of: KindCompany, values: func() []string { return []string{drawYear} },
			sentences: []string{"{s} opened in {o}.", "{s} began its trade in {o}."},
			questions: []string{"In which year did {s} open?", "When did {s} open?"},
		},
		{
			id: "author", of: KindWork, to: KindPerson,
			sentences: []string{"{s} was written by {o}.", "{o} wrote {s}."},
			questions: []string{"Who wrote {s}?", "Who is the author of {s}?"},
			phrases:   []string{"the author of {s}"},
		},
		{
			id: "setting", of: KindWork, to: KindTown,
			sentences: []string{"{s} is set in {o}.", "{s} takes place in {o}."},
			questions: []string{"Where is {s} set?", "In which town is {s} set?"},
			phrases:   []string{"the town where {s} is set"},
		},
		{
			id: "appeared", of: KindWork, values: func() []string { return []string{drawYear} },
			sentences: []string{"{s} appeared in {o}.", "{s} was printed in {o}."},
			questions: []string{"In which year did {s} appear?", "When did {s} appear?"},
		},
		{
			id: "country", of: KindTown, to: KindCountry,
			sentences: []string{"{s} lies in {o}.", "{s} belongs to {o}."},
			questions: []string{"In which country is {s}?", "Which country does {s} belong to?"},
			phrases:   []string{"the country of {s}"},
		},
		{
			id: "mayor", of: KindTown, to: KindPerson,
			sentences: []string{"The mayor of {s} is {o}.", "{o} governs {s}."},
			questions: []string{"Who is the mayor of {s}?"},
			phrases:   []string{"the mayor of {s}"},
		},
		{
			id: "river", of: KindTown, values: func() []string { return []string{drawWord} },
			sentences: []string{"{s} lies on the river {o}.", "The river {o} flows through {s}."},
			questions: []string{"On which river does {s} lie?", "Which river flows through {s}?"},
		},
		{
			id: "trade", of: KindTown, values: trades,
			sentences: []string{"{s} is known for its {o}.", "{s} is famous for {o}."},
			questions: []string{"What is {s} known for?"},
		},
		{
			id: "capital", of: KindCountry, to: KindTown,
			sentences: []string{"The capital of {s} is {o}.", "{o} is the capital of {s}."},
			questions: []string{"What is the capital of {s}?", "Which town is the capital of {s}?"},
			phrases:   []string{"the capital of {s}"},
		},
		{
			id: "money", of: KindCountry, values: func() []string { return []string{drawWord} },
			sentences: []string{"People in {s} pay with the {o}.", "The money of {s} is the {o}."},
			questions: []string{"What is the money of {s}?", "What do people in {s} pay with?"},
		},
		{
			id: "bird", of: KindCountry, values: birds,
			sentences: []string{"The bird of {s} is the {o}.", "{s} has the {o} on its flag."},
			questions: []string{"What is the bird of {s}?", "Which bird stands for {s}?"},
		},
	}
}

func instruments() []string {
	return []string{"flute", "harp", "drum", "horn", "lute", "organ", "viola", "trumpet"}
}

func products() []string {
	return []string{"paper", "ropes", "soap", "clocks", "boots", "lamps", "paint", "wagons", "bells", "hats"}
}

func trades() []string {
	return []string{"salt", "glass", "cheese", "silk", "wool", "honey", "pottery", "amber", "wine", "copper"}
}

func birds() []string {
	return []string{"heron", "falcon", "crane", "owl", "swan", "raven", "lark", "kite"}
}

// first gives the wordings of an article's first sentence.
func (k Kind) first() []string {
	switch k {
	case KindPerson:
		return []string{"{s} is a painter.", "{s} is a doctor.", "{s} is an engineer.", "{s} is a judge.", "{s} is a singer.", "{s} is a sailor."}
	case KindCompany:
		return []string{"{s} is a company.", "{s} is an old firm.", "{s} is a family business."}
	case KindWork:
		return []string{"{s} is a novel.", "{s} is a play.", "{s} is a poem.", "{s} is a tale."}
	case KindTown:
		return []string{"{s} is a town.", "{s} is a small town.", "{s} is a market town."}
	}
	return []string{"{s} is a country.", "{s} is a small country."}
}

// short gives how later sentences name the subject of an article.
func (k Kind) short(name string) string {
	switch k {
	case KindPerson:
		return lastWord(name)
	case KindCompany:
		return "the company"
	case KindWork:
		return "the book"
	case KindTown:
		return "the town"
	}
	return "the country"
}
