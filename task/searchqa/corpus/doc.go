// Package corpus has the passages that search is about, and reads them from wiki-style files.
package corpus
