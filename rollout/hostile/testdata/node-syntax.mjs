// want: rejected:parse
const = 3;
