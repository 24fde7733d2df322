package whale

import "context"

// WeightsRef says which weights sampled something.
type WeightsRef struct {
	ID      ID     `json:"id"`                // hash of the tensors where we hold them, else of lineage plus locator
	Locator string `json:"locator,omitempty"` // where a server keeps them, if it does
}

// Sampling is a run's sampling settings; a harness cannot change them.
type Sampling struct {
	Temperature float64 `json:"temperature" yaml:"temperature"`
	TopP        float64 `json:"top_p" yaml:"top_p"`
	TopK        int     `json:"top_k" yaml:"top_k"` // 0 = off
}

// The finish reasons of a completion.
const (
	FinishStop   = "stop"   // a stop id or a stop text
	FinishLength = "length" // the token limit of the call or of the context
)

// SampleRequest asks a Sampler to continue a prompt.
type SampleRequest struct {
	Prompt    []int32  // token ids
	MaxTokens int      // most ids to sample, at least 1
	StopIDs   []int32  // ids that end the completion; the id itself is kept in it
	StopText  []string // texts that end the completion once its decoded text contains one
	Seed      uint32   // below 2^31
	Sampling  Sampling
}

// Completion is one model call as it happened: exact prompt ids, sampled ids and their log-probabilities.
type Completion struct {
	Prompt         []int32    `json:"prompt"`
	Tokens         []int32    `json:"tokens"`
	LogProbs       []float32  `json:"logprobs"`        // of the full distribution at temperature 1
	SampleLogProbs []float32  `json:"sample_logprobs"` // after temperature and truncation
	Finish         string     `json:"finish"`
	Weights        WeightsRef `json:"weights"`
}

// TokenAccess is what a policy lets us know about tokens.
type TokenAccess string

// The kinds of token access, from most to least.
const (
	TokenExact      TokenAccess = "token-exact"      // ids in, ids out: trainable
	TokenServer     TokenAccess = "server-templated" // the server renders, and returns ids: trainable
	TokenTextOnly   TokenAccess = "text-only"        // harness search alone
	ReductionTokens             = "token-mean"       // loss: mean over all trained tokens of the minibatch (ours, and the paper's)
	ReductionDatum              = "per-datum-mean"   // loss: mean of per-sequence means
	ReductionSum                = "sum"              // loss: sum over tokens
)

// Capabilities is what a policy declares that it can do. A recipe that needs more is refused, never approximated.
type Capabilities struct {
	Access     TokenAccess
	Seeds      bool // a request's seed decides its tokens
	LogProbs   bool
	MaxContext int // prompt plus completion, in tokens
}

// Sampler turns ids into ids. It is called from many goroutines at once and batches them as it likes: the result of a request does not
// depend on what else is under way.
type Sampler interface {
	Sample(ctx context.Context, r SampleRequest) (Completion, error)
	Weights() WeightsRef
	Capabilities() Capabilities
}

// Renderer turns messages and tools into token ids, and sampled ids back into text and tool calls.
type Renderer interface {
	ID() ID // content hash of template and tokenizer
	// Render gives the prompt ids that end where the model is to speak. replies gives the sampled ids behind a ReplyRef.
	Render(messages []Message, tools []ToolSpec, replies func(ReplyRef) []int32) ([]int32, error)
	// Parse gives what the sampled ids say: the text without control tokens, and the tool calls in it.
	Parse(ids []int32) (text string, calls []ToolCall)
	StopIDs() []int32
	Count(text string) int               // tokens of a text
	Clip(text string, tokens int) string // the longest prefix of at most that many tokens
}

// Policy is a Renderer and a Sampler that belong together.
type Policy interface {
	Renderer
	Sampler
	Close() error
}

// Sequence is training data: token ids and the weight of each as a target. Weight 0 is context; Weights[0] is always 0.
type Sequence struct {
	Tokens  []int32   `json:"tokens"`
	Weights []float32 `json:"weights"`
	// What the losses of policy gradients need beside; else nil. Each is as long as Tokens, and counts where Weights is not 0.
	LogProbs   []float32 `json:"logprobs,omitempty"`   // log-probability under the weights that sampled the token, in nats
	Advantages []float32 `json:"advantages,omitempty"` // by how much the token's episode did better than expected
	Reference  []float32 `json:"reference,omitempty"`  // log-probability under the weights that the policy is held to, in nats
}

// TrainStats is what a trainer reports of one optimiser step.
type TrainStats struct {
	Loss     float64     `json:"loss"`   // mean over trained tokens; of cross-entropy the negative log-likelihood, in nats
	Tokens   int         `json:"tokens"` // trained tokens
	GradNorm float64     `json:"grad_norm"`
	Policy   PolicyStats `json:"policy,omitzero"` // of policy-gradient losses
}

// Trainer updates the weights. Operations carry ids, so that a repeated one is recognised and not applied twice.
type Trainer interface {
	Reduction() string // one of the Reduction constants
	// CheckLoss says why the trainer cannot descend a loss; nil if it can. Nothing near it is put in its place.
	CheckLoss(loss Loss) error
	// Accumulate adds the gradients of a loss over a minibatch.
	Accumulate(ctx context.Context, op string, batch []Sequence, loss Loss) error
	// Step applies what was accumulated, and clears it.
	Step(ctx context.Context, op string, learningRate float64) (TrainStats, error)
	// Publish makes the present weights a policy that samples.
	Publish(ctx context.Context) (Policy, error)
	// Snapshot writes weights and optimiser state into a folder; Restore reads them back, optimiser state included.
	Snapshot(ctx context.Context, dir string) error
	Restore(ctx context.Context, dir string) error
	// ResetOptimizer forgets the optimiser's moments and step count.
	ResetOptimizer()
	// Scorer scores under weights that the trainer had: those of a snapshot's folder, or, where dir is empty, those that training began with.
	Scorer(ctx context.Context, dir string) (Scorer, error)
	Weights() WeightsRef
}
