package world

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// Syllables are chosen so that words are easy to say and spell, and rarely are words of a real language.
func onsets() []string {
	return strings.Fields("b d f g k l m n p r s t v z br dr gr kr tr vr zh sk")
}

func vowels() []string { return strings.Fields("a e i o u") }

func codas() []string { return strings.Fields("l n r s t k m x nd rk st lm") }

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// speller draws names. It never spells a word that is taken: one that exists, or that a sentence or a question of ours is made of.
type speller struct {
	r     *rand.Rand
	taken map[string]bool // in lower case

	given, family []string // several persons share a given name or a family name
}

// newSpeller makes a speller for a region of n articles.
func newSpeller(r *rand.Rand, n int) *speller {
	s := &speller{r: r, taken: make(map[string]bool)}
	for _, w := range realWords() {
		s.taken[w] = true
	}
	for _, text := range wordings() {
		for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
			s.taken[w] = true
		}
	}
	seen := make(map[string]bool)
	draw := func(n int) (out []string) {
		for len(out) < n {
			if w := s.word(2); !seen[w] {
				seen[w] = true
				out = append(out, w)
			}
		}
		return out
	}
	s.given, s.family = draw(40+n/20), draw(40+n/10)
	return s
}

// word makes a capitalised word of so many open syllables, closed by a coda half of the time.
func (s *speller) word(syllables int) string {
	for {
		var b strings.Builder
		for range syllables {
			b.WriteString(pick(s.r, onsets()))
			b.WriteString(pick(s.r, vowels()))
		}
		if s.r.IntN(2) == 0 {
			b.WriteString(pick(s.r, codas()))
		}
		if w := b.String(); !s.taken[w] {
			return title(w)
		}
	}
}

// title makes the first letter a capital.
func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// name makes a title of the kind.
func (s *speller) name(k Kind) string {
	r := s.r
	switch k {
	case KindPerson:
		return pick(r, s.given) + " " + pick(r, s.family)
	case KindCompany:
		return s.word(2) + " " + pick(r, companyNouns())
	case KindWork:
		noun := pick(r, workNouns())
		if r.IntN(2) == 0 {
			return "The " + s.word(2) + " " + noun
		}
		return "The " + noun + " of " + s.word(2)
	case KindCountry:
		for {
			if w := strings.TrimRight(s.word(2), "aeiou") + pick(r, []string{"ia", "land", "mark", "stan"}); !s.taken[strings.ToLower(w)] {
				return w
			}
		}
	}
	return s.word(2 + r.IntN(2))
}

func companyNouns() []string {
	return []string{"Mills", "Lines", "Works", "Foundry", "Trading", "Brothers"}
}

func workNouns() []string {
	return []string{"Lantern", "Bridge", "Garden", "Winter", "Mirror", "Harbor", "Letter", "Clock", "Forest", "Promise"}
}

// wordings lists every text that articles, letters and questions are made of.
func wordings() []string {
	list := slices.Concat(companyNouns(), workNouns(), openings(), closings())
	for _, l := range relations() {
		list = slices.Concat(list, l.sentences, l.questions, l.phrases)
		if l.values != nil {
			list = append(list, l.values()...)
		}
	}
	for _, s := range shares() {
		list = append(append(list, s.kind.first()...), s.kind.short("x"))
	}
	return list
}

// realWords lists what the syllables can make of English and of the map of the world.
func realWords() []string {
	return strings.Fields(`
roma lima peru mali togo kobe nara male suva riga tula kiel bari pisa fes brest toronto monaco samara sara maria mara nina lisa tara mira
vera dora nora lena rita tina kira dina milan dover sudan turin kenia malta delos naxos paros berlin madrid lisbon bogota dakar lusaka
malaga panama bolivia romania bulgaria finland poland holland denmark pakistan nero plato marx sofia brasilia karelia nigeria liberia
serbia namibia zambia gambia dresden potosi toledo davos lagos baden salem petra tirana manila dodoma bamako varese verona modena
novara ferrara savona
time like more make take some name home life love rose note fire late gate lake mile mine zone tone sale safe made base vote nose bone line
fine nine pine rate date fate mode rode ride side tide site bite kite mite lone none done gone bore sore tore before male tale pale sole
pole mole role rule tube tune sure pure fame tame lame game same face race gave save rave sake bake rake five dive drive live give
ten ben men pen net set bet let met pet get bit fit kit lit pit sit fat bat rat sat mat not lot got rot pot but gut nut put run sun gun fun
bus gas its has was for nor bar far tar mix six fix tax fox box land band bend lend mend send tend bond fond find kind mind bind fork
pork bark dark mark park fast past last best nest rest test list mist fist most post dust must rust bell tell fell sell`)
}
