import { randomBytes } from "node:crypto";

/** `byteCount` bytes from the system's cryptographic source, as lower-case hexadecimal digits. */
export function randomHex(byteCount: number): string {
  return randomBytes(byteCount).toString("hex");
}
