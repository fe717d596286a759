/** How the reason begins for a guest that returned or exited, and was not ended. */
export const endedByItself = "The program ended by itself";
/** The reason for a guest that was ended for a line of stdout. */
export const lineTooLong = "The program wrote a line over 1 MiB.";
