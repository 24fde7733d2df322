package searchqa

// Resolve rewrites every path of the configuration, as one that is relative to the file that it stands in.
func (c *Config) Resolve(abs func(path string) string) {
	for _, files := range c.Files {
		for i := range files {
			files[i].Path = abs(files[i].Path)
		}
	}
	c.Retrieval.Index = abs(c.Retrieval.Index)
	c.Verifier.Judge.CacheFile = abs(c.Verifier.Judge.CacheFile)
}
