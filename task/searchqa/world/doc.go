// Package world makes an encyclopedia of a world that does not exist, and questions about it.
//
//	Options    all that decides a world: seed, sizes, shares
//	Article    a title and two to four short sentences about one person, company, work, town or country
//	Question   one relation of one article (one hop), or a relation of the article that another one names (two hops)
//
// Names are put together from syllables, so that nothing can be answered from memory; facts are drawn at random. A relation is asked about only
// where the article states it, in one of several wordings; each question has one answer.
//
// # Splits
//
// An article belongs to a split by the hash of its title and nothing else ([task.Buckets]), and articles name only articles of their own
// split. So no fact is in two splits: a chain of two hops in one split never passes a fact that another split asks about, whatever the
// seeds and sizes; nor does the world that a pre-training corpus is written about ([Generator.Pretrain]), whose bucket no split draws on. The
// search index holds the articles of all splits.
//
// # What is hard about it
//
// The wording of a question differs from that of the article. Letters ([KindLetter]) repeat a question about an article, word by word, without its
// answer: a search for the unchanged question finds the letter first, a search for the name finds the article. Family names are shared.
// Where in an article a fact stands is random, so that a passage cut short loses it. Two hops need two searches.
package world
