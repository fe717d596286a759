/** Nobody is there, so nothing more is asked for now. */
export class Unattended extends Error {}

/** The person has to speak first. */
export class Paused extends Error {}
