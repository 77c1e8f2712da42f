/** The tone of a state, which chooses the colour and shape of a badge. */
export type Tone = 'good' | 'busy' | 'bad' | 'still';
