/**
 * Stands for the cursor in a text that is read to find out where the cursor is. It is in the private use area, so both formats
 * take it for a part of a word.
 */
export const mark = "\ue0c5";
