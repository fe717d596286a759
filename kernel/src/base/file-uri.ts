/** The absolute path that a `file:` URI names; null for another scheme, another machine, or an impossible path. */
export function pathOfFileUri(uri: string, platform: string): string | null {
  const match = /^file:(?:\/\/([^/]*))?(\/[^?#]*)/i.exec(uri);
  if (!match) return null;
  const [, host = "", encoded = ""] = match;
  let path: string;
  try {
    path = decodeURIComponent(encoded);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
  if (path.includes("\0") || /%2f/i.test(encoded)) return null;
  const isLocal = host === "" || host.toLowerCase() === "localhost";
  if (platform === "win32") return windowsPath(path, isLocal ? "" : host);
  if (!isLocal) return null;
  return path.length > 1 ? path.replace(/(?<!\/)\/+$/, "") || "/" : path;
}

function windowsPath(path: string, host: string): string | null {
  if (host !== "") return `\\\\${host}${path.replaceAll("/", "\\")}`;
  const drive = /^\/([A-Za-z]):(\/.*)?$/.exec(path);
  if (!drive) return null;
  const rest = (drive[2] ?? "/").replace(/(?<=[^/]|^\/)\/+$/, "");
  return `${drive[1]?.toUpperCase()}:${rest.replaceAll("/", "\\")}`;
}
