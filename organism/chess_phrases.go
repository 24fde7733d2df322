package organism

// The texts around positions.

// moveRequests ask for the move's format.
var moveRequests = []string{
	"Answer with <move>uci</move>.",
	"Give your move as <move>uci</move>.",
	"Write the move in UCI inside <move></move>.",
	"Reply with one legal move as <move>move</move>.",
	"Put your move in <move></move>.",
	"Write your move as <move>uci</move>.",
	"Answer with a legal move in UCI, as <move>uci</move>.",
	"Give one move in <move> tags.",
}

var chessManners = []string{
	"You solve chess puzzles.",
	"Find the best move.",
	"What is the best move?",
	"Solve the puzzle.",
	"Find the winning move.",
	"You play chess.",
	"This is a chess puzzle.",
	"Choose a move from the list.",
	"Look for checks, captures and threats.",
	"A move with # is checkmate.",
	"Look for checkmate first.",
	"Prefer captures.",
	"Choose the best move.",
}

// moveNudges remind of the format in a later turn.
var moveNudges = []string{
	"Answer with <move>uci</move>.",
	"Write your move as <move>uci</move>.",
	"There is no <move> in your reply.",
	"Give a legal move in UCI, as <move>uci</move>.",
	"Give your move now.",
	"Choose a move from the list.",
	"Try again.",
	"Please answer with one legal move in <move></move>.",
	"Copy one move from the list of legal moves.",
}

// blockHeadings stand before the blocks of a position.
var blockHeadings = map[string][]string{
	"fen":       {"FEN: ", "Position: ", ""},
	"ascii":     {"Board:\n", "", "The board:\n"},
	"pieces":    {"", "Pieces:\n"},
	"history":   {"Moves so far:\n", "History:\n", ""},
	"legal_uci": {"Legal moves: ", "Legal moves (UCI): ", "Legal moves (UCI): ", "Legal: ", "Moves: "},
	"legal_san": {"In SAN: ", "Legal moves (SAN): ", "Legal moves (SAN): ", "SAN: "},
}

// plainMoves state a move without the tag; %s is the move.
var plainMoves = []string{"%s", "I play %s.", "The best move is %s.", "My move is %s."}

// chessRambles are sentences of thinking aloud; %s is a legal move in SAN.
var chessRambles = []string{
	"Let me look at the board.",
	"What about %s?",
	"Maybe %s is good.",
	"Hmm, wait.",
	"I could play %s.",
	"Is %s a check?",
	"Then the king has to move.",
	"Let me think about this.",
	"But %s does not work.",
	"I should be careful.",
	"Now look at %s.",
	"What does my opponent want?",
	"One more time.",
	"I am not sure about %s.",
	"The position is not easy.",
}
