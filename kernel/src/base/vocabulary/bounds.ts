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
/** The longer side of a thumbnail, pixels. */
export const maxThumbnailPx = 1024;
/** Documents that a client may have open. */
export const maxOpenDocuments = 10_000;
