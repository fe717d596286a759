import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify,
  type KeyObject,
} from "node:crypto";

/** Bytes of an Ed25519 public key and of a signature, in their raw form. */
export const publicKeyBytes = 32;
export const signatureBytes = 64;

/** The first bytes of an Ed25519 public key in the form SubjectPublicKeyInfo, which Node takes. */
const publicKeyPrefix = Buffer.from("302a300506032b6570032100", "hex");

export interface KeyPair {
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** PKCS #8. */
  readonly privateKey: Uint8Array;
}

/** Makes an Ed25519 key pair. */
export function makeKeyPair(): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  return { publicKey: rawOf(publicKey), privateKey: privateKey.export({ format: "der", type: "pkcs8" }) };
}

/** Returns the Ed25519 signature of a message, 64 bytes. `privateKey`: as `makeKeyPair` returns it. */
export function signMessage(message: Uint8Array | string, privateKey: Uint8Array): Uint8Array {
  const key = createPrivateKey({ key: Buffer.from(privateKey), format: "der", type: "pkcs8" });
  return sign(null, Buffer.from(message), key);
}

/** True if the signature is this key's for the message. False for a key that is none. */
export function isSignedBy(
  message: Uint8Array | string,
  publicKey: Uint8Array,
  signature: Uint8Array,
): boolean {
  if (publicKey.length !== publicKeyBytes || signature.length !== signatureBytes) return false;
  try {
    const key = createPublicKey({
      key: Buffer.concat([publicKeyPrefix, publicKey]),
      format: "der",
      type: "spki",
    });
    return verify(null, Buffer.from(message), key, signature);
  } catch {
    // OpenSSL refuses points that are not on the curve.
    return false;
  }
}

function rawOf(key: KeyObject): Uint8Array {
  const encoded = key.export({ format: "der", type: "spki" });
  return Uint8Array.from(encoded.subarray(encoded.length - publicKeyBytes));
}
