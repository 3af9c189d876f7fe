/* What a token may be, as bits of its flags. */

export const SPECIAL = 1;
export const UNKNOWN = 2;
export const SPACE = 4;
export const PUNCTUATION = 8;
