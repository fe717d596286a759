/**
 * Marks the cursor in a text that is parsed to find the cursor's position. The character is in the private use
 * area, so both formats read it as part of a word.
 */
export const mark = "\ue0c5";
