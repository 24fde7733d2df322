package answer

import "testing"

// numericCases are pairs of answers as models and data sets write them.
var numericCases = []struct {
	a, b string
	same bool
}{
	// integers
	{"25", "25", true}, {"25", "26", false}, {"025", "25", true}, {"000", "0", true}, {"-0", "0", true}, {"+7", "7", true}, {" 25 ", "25", true},
	{"25.", "25", true}, {"25", "25.0", true}, {"25,", "25", true}, {"25;", "25", true}, {"25\n", "25", true}, {"2 5", "25", false}, {"25 26", "25", false},
	{"-10", "10", false}, {"--5", "5", false}, {"123456789012345678901234567890", "123456789012345678901234567891", false},
	// signs
	{"-10", "\u221210", true}, {"-10", "\u201310", true}, {"- 10", "-10", true}, {"\u22123.5", "-3.50", true}, {"-\\frac{1}{2}", "-0.5", true},
	{`\pm 5`, "5", false}, {"±5", "-5", false}, {`\pm 5`, "±5", true},
	// decimals
	{".5", "0.5", true}, {"0.50", "0.5", true}, {"5.", "5", true}, {"0.1", "0.10000000000000000001", false}, {"3.14", "3.140", true}, {"3.14", "3.1400001", false},
	{"0.333", `\frac{1}{3}`, false}, {`0.\overline{3}`, `\frac13`, true}, {`0.1\overline{6}`, "1/6", true}, {`0.\overline{9}`, "1", true}, {"1.2.3", "1.23", false},
	{"3,5", "3.5", false}, {"3.14...", "3.14", false},
	// fractions
	{"1/2", "0.5", true}, {"2/4", "1/2", true}, {" 1 / 2 ", "1/2", true}, {"-1/2", `-\frac{1}{2}`, true}, {`\frac{1}{2}`, `\dfrac{1}{2}`, true}, {`\tfrac{3}{4}`, "0.75", true},
	{`\frac12`, "1/2", true}, {`\frac1{72}`, "1/72", true}, {`\frac{1}2`, "0.5", true}, {`\frac{-1}{2}`, "-1/2", true}, {`\frac{1}{-2}`, "-1/2", true}, {`\frac {3} {4}`, "3/4", true},
	{`\frac{1}{0}`, "0", false}, {"1/0", "1/0", true}, {"1/0", "2/0", false}, {"1/2/3", "1/6", false}, {"(1/2)", "1/2", true}, {`{1}/{2}`, "{1}/{2}", true}, {"1/{2}", "1/2", true},
	{"½", "0.5", true}, {"¾", "3/4", true}, {"6/3", "2", true}, {`\left(\frac{1}{2}\right)`, "1/2", true}, {`\frac{1.5}{3}`, "0.5", true}, {`\frac{2}{3}`, "0.67", false},
	{"14/3", `4\frac{2}{3}`, true}, {"1:2", "1/2", false}, {"1⁄2", "0.5", true},
	// mixed numbers
	{`2\frac{1}{2}`, "2.5", true}, {`2 \frac12`, "5/2", true}, {"2 1/2", "2.5", true}, {"-2 1/2", "-2.5", true}, {"2½", "2.5", true}, {`-3\dfrac{1}{4}`, "-3.25", true},
	{"2 3/2", "3.5", false}, {"21/2", "10.5", true}, {"21/2", "2 1/2", false},
	// percent
	{"50%", "50", true}, {`50\%`, "50", true}, {"50%", "0.5", true}, {`50 \%`, "1/2", true}, {"50 percent", "50%", true}, {"50%", "5", false}, {"50", "0.5", false}, {`12.5\%`, "0.125", true},
	{`\frac{1}{2}\%`, "0.005", true}, {"50%", "50 cm", false}, {"0.5%", "50", false},
	// thousands
	{"1,000", "1000", true}, {"1{,}000", "1000", true}, {`1\,000`, "1000", true}, {`1,\!000`, "1000", true}, {"1 000 000", "1000000", true}, {"1\u202f000", "1000", true}, {"1'000", "1000", true},
	{"12,345,678.90", "12345678.9", true}, {"1,00", "100", false}, {"1,0000", "10000", false}, {"1,2", "12", false}, {"1, 000", "1000", false}, {"(1,000)", "1000", false}, {"1.000", "1000", false},
	{`1{,}234{,}567`, "1,234,567", true}, {"-1,000", "-1000", true},
	// currencies
	{"$5", "5", true}, {`\$5`, "5", true}, {`\$1,234.50`, "1234.5", true}, {"-$5", "-5", true}, {"$-5", "-5", true}, {`$\$5$`, "5", true}, {"5 dollars", "$5", true}, {"€5", "5 euros", true},
	{"$5", "€5", false}, {"5 cents", "$5", false}, {"£3", "3", true}, {"US$5", "5 USD", true}, {`18\text{ dollars}`, `\$18`, true}, {"$2.5 million", "2500000", true}, {"3 thousand", "3,000", true},
	// degrees
	{`60^\circ`, "60", true}, {`60^{\circ}`, "60°", true}, {"60 degrees", `60^\circ`, true}, {`60\degree`, "60", true}, {`\angle ABC = 60^\circ`, "60", true}, {"60 deg", "60°", true}, {"20°C", "20", true},
	// units
	{"5 cm", "5", true}, {`5\text{ cm}`, "5", true}, {`5~\mathrm{cm}`, "5 cm", true}, {"5cm", "5", true}, {`5 \text{ centimeters}`, "5 cm", true}, {"5 cm", "5 m", false}, {`5\text{ cm}^2`, "5", true},
	{`5\text{ cm}^2`, `5\text{ cm}^3`, false}, {`5 \text{ cm}^{2}`, "5 cm²", true}, {"5 square meters", "5", true}, {"12 apples", "12", true}, {"12 apples", "12 oranges", false}, {"1 apple", "1 apples", true},
	{`10\,\mathrm{m/s}`, "10 m/s", true}, {"10 miles per hour", "10", true}, {"30 mph", "30", true}, {`\frac{1}{2}\text{ hour}`, "0.5", true}, {"5 min", "5 minutes", true}, {`80\text{ km/h}`, "80", true},
	{"5x", "5", false}, {"5 or 6", "5", false}, {"5 and 6", "5", false}, {"5 x", "5", false}, {"5m", "5", false}, {"3 dozen", "3", false}, {"5!", "5", false}, {"5 mod 7", "5", false},
	{"two", "2", false}, {"5 is the answer to all of it", "5", false},
	// wrappers
	{`\text{25}`, "25", true}, {`\mathrm{25}`, "25", true}, {`\mathbf{25}`, "25", true}, {`\boxed{25}`, "25", true}, {`\fbox{25}`, "25", true}, {`\left(25\right)`, "25", true}, {"$25$", "25", true},
	{"$$25$$", "25", true}, {`\(25\)`, "25", true}, {`\[25\]`, "25", true}, {"{25}", "25", true}, {"(25)", "25", true}, {`\displaystyle\frac{1}{2}`, "1/2", true}, {`25\ `, "25", true}, {`\{25\}`, "25", false},
	{`$\boxed{\text{25}}$.`, "25", true}, {"$25$ apples", "25", true},
	// powers of ten
	{`1.5 \times 10^{3}`, "1500", true}, {`1.5\times10^3`, "1500", true}, {`6.02 \cdot 10^{23}`, "602000000000000000000000", true}, {"1.5e3", "1500", true}, {"1.5E-3", "0.0015", true}, {"10^5", "100000", true},
	{`10^{-2}`, "0.01", true}, {"1.5×10^3", "1500", true}, {"1.5 * 10^3", "1500", true}, {`2 \times 10^{3}`, "2 * 10^4", false}, {"1e400", "1e401", false}, {"10^10^10", "10^10^10", true}, {"10^10^10", "10", false},
	{"10^{99999999999}", "1", false}, {"1e999999999", "1e999999999", true}, {`3 \times 10^2 \text{ m}`, "300", true},
	// π
	{`\pi`, "π", true}, {`2\pi`, "2π", true}, {`2\pi`, "2*pi", true}, {`\frac{\pi}{4}`, `\pi/4`, true}, {`\frac{\pi}{4}`, `\frac14\pi`, true}, {`\frac{3\pi}{4}`, "3π/4", true}, {`2\pi`, "6.28", false}, {`\pi`, "3.14", false},
	{`2\pi`, "2", false}, {`-\pi`, `\pi`, false}, {"3/4π", `\frac{3\pi}{4}`, false}, {`9\pi \text{ cm}^2`, `9\pi`, true}, {`\frac{1}{\pi}`, `\pi`, false},
	// named
	{"x = 5", "5", true}, {"x=5", "x = 5.0", true}, {"= 5", "5", true}, {"n_1 = 12", "12", true}, {"f(3) = 7", "7", true}, {`\theta = 60^\circ`, "60", true}, {`x \approx 3.14`, "3.14", false}, {`\approx 3.14`, "3.14", true},
	{"2x = 6", "6", false}, {"x = 5 = 5", "5", false}, {"x^2 = 4", "4", false}, {"3 = 5", "5", false}, {"x = y", "x=y", true},
	// not calculated
	{"5*5", "25", false}, {"2^{10}", "1024", false}, {`\sqrt{4}`, "2", false}, {"3+4", "7", false}, {"5 - 3", "2", false}, {`2 \times 3`, "6", false}, {"10^2 + 1", "101", false}, {"0x19", "25", false},
	{"1_000", "1000", false}, {"٢٥", "25", false}, {"3:30", "3.5", false},
	// texts
	{`\sqrt{2}`, `\sqrt 2`, true}, {`\frac{\sqrt3}2`, `\dfrac{\sqrt{3}}{2}`, true}, {`\frac\pi4`, `\frac{\pi}{4}`, true}, {`\frac{x}{2}`, `\frac x2`, true}, {`\sqrt{12}`, `\sqrt12`, false}, {`\sqrt{2}`, `$\sqrt{2}$`, true}, {"(1, 2)", "(1,2)", true}, {"(1, 2)", "(2,1)", false}, {`\text{Yes}`, "yes", true}, {"Yes.", "yes", true}, {"A", "a", false}, {`\text{(A)}`, "(A)", true},
	{"x+1", "x + 1", true}, {`\dfrac{x}{2}`, `\frac{x}{2}`, true}, {"", "", true}, {"", "0", false}, {`\infty`, "∞", true}, {"red  car", "Red car", true}, {"-", "-", true}, {".", "", false}, {`\left[0, 1\right)`, "[0,1)", true},
}

func TestNumeric(t *testing.T) {
	if len(numericCases) < 120 {
		t.Errorf("got %d cases, want at least 120", len(numericCases))
	}
	t.Logf("%d cases", len(numericCases))
	for _, c := range numericCases {
		if got := Numeric(c.a, c.b); got != c.same {
			x, ok := ParseNumber(c.a)
			y, ok2 := ParseNumber(c.b)
			t.Errorf("%q and %q: got %v, want %v (%+v %v, %+v %v; %q, %q)", c.a, c.b, got, c.same, x, ok, y, ok2, Plain(c.a), Plain(c.b))
		}
		if Numeric(c.b, c.a) != Numeric(c.a, c.b) {
			t.Errorf("%q and %q: got another verdict the other way round", c.a, c.b)
		}
	}
}
