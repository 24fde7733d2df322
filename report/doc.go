// Package report makes tables, plots and one page of what runs came to. It only reads: [Load] takes run directories, [Build] stories that are
// read already, and the [Report] that they give is plain data with every number, from which everything else is written:
// [Report.WriteText] for a terminal, [Report.WriteHTML] one file that opens without a network, [Report.WriteCSV], and [Report.WriteAll] a folder
// with those, report.json, and the plots as SVG and PNG.
//
// # What is compared with what
//
// Runs of one task (by content: its examples, tools and verifier) are a [Group]; runs of different tasks are reported side by side and never
// pooled. Within a group, runs that differ in nothing but their seed (and in what only decides speed) are an [Arm], which is named by its method,
// and by the config keys that set it apart where a method has several arms. The same arm with the same seed twice is an error: it would
// count as two runs what is one. A run that is not finished is listed, with what it has done so far, and is in no table of final pairs.
//
// # The statistics
//
// They are fixed in advance, in package stats (hierarchical.go): mean@k averages an example's draws, then examples, then seeds. Intervals are
// 95% percentile intervals of 10,000 seeded resamples of seeds and examples, differences are paired by seed and example on the seeds that both
// arms have, and p-values are two-sided, from the same resamples, not corrected for the number of comparisons. With one seed the interval
// is over examples alone, and everything that is written says so.
//
// The pair that a run ends with is the result. The best along the run is the paper's figure: of each run the best pair, by mean@k, of those that stood
// along it and were measured. It is marked "chosen on test", because its choice has seen the numbers that it reports. The pair chosen on the
// validation split is there where that split exists.
//
// Curves have one draw an example. The band of a method's mean curve is the interval of the same resampling, point by point. It needs the rewards of
// single examples, which [Load] reads from the run directories; without them it is the range of the seeds, and says so.
//
// # Outside text
//
// Names, programs and reasons come from files that anyone may have written. They are escaped in HTML and SVG, made harmless for a terminal in text, and
// kept from being formulas in CSV.
package report
