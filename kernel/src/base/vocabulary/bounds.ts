/*
 * Bounds that a wire's schema and the code behind it, or both ends of a wire, have to agree on. Without imports, so that
 * a web page can have them too.
 */

/** Characters of a person's reason for rejecting an action. */
export const maxRejectionReason = 2000;
/** Characters of the reason for which something is forgotten. */
export const maxForgetReason = 4000;
export const maxRetentionDays = 36_500;
/** Relations of one item of knowledge that is added. */
export const maxRelations = 256;
/** Characters of the name of a kind of event or item. */
export const maxVariantLength = 128;
/** The largest piece of a file, an effect's content or a blob in one answer to a guest, in bytes. */
export const maxReadBytes = 262_144;
/** Bytes that a message between kernel and guest has itself; more of them are a blob. */
export const maxInlineBytes = 600_000;
/** Texts of one `ai/embed`. */
export const maxEmbeddedTexts = 64;
/** Numbers of an agent's own embedding. */
export const maxDimensions = 4096;
/** Characters of an action's title. */
export const maxActionTitle = 200;
/** Effects of one action. */
export const maxEffectsPerAction = 1000;
/** The largest piece of an effect's content in one answer to a client, in bytes. */
export const maxContentBytes = 1024 * 1024;
/** Characters of the longest message that a person can send. */
export const maxMessageCharacters = 1_000_000;
/** Entries of a conversation that are pinned. */
export const maxPins = 256;
/** Sources of texts that are listed by their names; the last name stands for all others. */
export const maxSources = 32;
/** Bytes of a secret's value. */
export const maxSecretValueBytes = 64 * 1024;
/** Characters of a path in the workspace; longer ones are refused first. */
export const maxPathLength = 4096;
/** The longer side of a thumbnail, pixels. */
export const maxThumbnailPx = 1024;
/** Documents that a client may have open. */
export const maxOpenDocuments = 10_000;

/**
 * Calls of one agent that wait for their turn in one queue. Its guest has 64 open calls, and each process of its mind one;
 * cancelled calls keep their place until their turn.
 */
export const maxWaitingCalls = 512;

/** Stands for all further sources, and for those that nothing names. */
export const otherSources = "others";
