package sandbox
import ("testing";"time";"slices")
func TestZZ(t *testing.T) {
	big := make([]byte, 2<<30)
	for i := 0; i < len(big); i += 4096 { big[i] = 1 }
	c, _ := newCrew(nil)
	defer func() { c.killAll(); c.buryAll() }()
	for _, without := range [][]string{nil, {MechanismNamespaces}, {MechanismNamespaces,MechanismLandlock,MechanismSeccomp}} {
		c.without = without
		var ds []time.Duration
		for range 15 {
			s := time.Now()
			w, err := c.start(t.Context(), testSpec.hello())
			if err != nil { t.Fatal(err) }
			ds = append(ds, time.Since(s))
			c.bury(w)
			s = time.Now()
			for i := 0; i < len(big); i += 4096 { big[i]++ }
			t.Log("touch", time.Since(s))
		}
		slices.Sort(ds)
		t.Log(without, ds[0], ds[7], ds[14])
	}
	var ds []time.Duration
	for range 15 {
		s := time.Now()
		spec := pythonSpec(t, "print(1)")
		c, err := StartCommand(t.Context(), spec)
		if err != nil { t.Fatal(err) }
		c.Stdout.Read(make([]byte, 10))
		ds = append(ds, time.Since(s))
		c.Wait()
		c.Stdin.Close()
		c.Stdout.Close()
	}
	slices.Sort(ds)
	t.Log("python", ds[0], ds[7], ds[14])
	big[5] = 1
}
