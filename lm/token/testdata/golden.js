// Writes golden.json beside this file: what Hugging Face's tokenizers library
// makes of texts.json and corpus.txt. To run it:
//   npm install --prefix /tmp/hf tokenizers@0.23.2
//   NODE_PATH=/tmp/hf/node_modules node golden.js
const fs = require('fs'), path = require('path')
const { Tokenizer } = require('tokenizers')
const here = name => path.join(__dirname, name)

const byteLevel = use_regex => ({ type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex })
const sequence = (...pretokenizers) => ({ type: 'Sequence', pretokenizers })
const qwen = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
const splits = {
  gpt2: byteLevel(true),
  qwen: sequence({ type: 'Split', pattern: { Regex: qwen }, behavior: 'Isolated', invert: false }, byteLevel(false)),
  digits: sequence({ type: 'Digits', individual_digits: true }, byteLevel(true)),
}
const tokenizer = (pre_tokenizer, vocab, merges) => Tokenizer.fromString(JSON.stringify({
  version: '1.0', truncation: null, padding: null, added_tokens: [], normalizer: null, pre_tokenizer,
  post_processor: null, decoder: byteLevel(true),
  model: { type: 'BPE', dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null,
    fuse_unk: false, byte_fallback: false, ignore_merges: false, vocab, merges },
}))

// The vocabulary of all pairs of bytes: with it the ids show every edge of a word.
const printable = b => (b >= 33 && b <= 126) || (b >= 0xa1 && b <= 0xac) || b >= 0xae
let next = 256
const alphabet = [...Array(256).keys()].map(b => printable(b) ? b : next++).sort((a, b) => a - b).map(c => String.fromCharCode(c))
const vocab = {}, merges = []
alphabet.forEach((c, i) => { vocab[c] = i })
for (const a of alphabet) for (const b of alphabet) { vocab[a + b] = 256 + merges.length; merges.push([a, b]) }

async function main () {
  const texts = JSON.parse(fs.readFileSync(here('texts.json')))
  const lines = []
  for (const [name, pre] of Object.entries(splits)) {
    const all = tokenizer(pre, vocab, merges)
    const ids = []
    for (const text of texts) ids.push('  ' + JSON.stringify((await all.encode(text)).getIds()))
    const learner = tokenizer(pre, {}, [])
    learner.train([here('corpus.txt')])
    const saved = path.join(fs.mkdtempSync('/tmp/golden-'), 'tokenizer.json')
    learner.save(saved)
    const learned = JSON.parse(fs.readFileSync(saved)).model.merges.map(m => Array.isArray(m) ? m.join(' ') : m)
    lines.push(`"${name}": {"ids": [\n${ids.join(',\n')}\n ], "merges": ${JSON.stringify(learned)}}`)
  }
  fs.writeFileSync(here('golden.json'), `{\n${lines.join(',\n')}\n}\n`)
}
main()
