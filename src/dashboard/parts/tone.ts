/** How things stand, in one word: what the colour and shape of a badge say. */
export type Tone = 'good' | 'busy' | 'bad' | 'still';
