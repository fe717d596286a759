/** Returns the path of an album's page. The name keeps what every file system takes. */
export function pathOf(name: string, folder: string): string {
  const plain = name
    .normalize("NFC")
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/[\u0000-\u001f\u007f<>:"/\\|?*]/g, " ")
    .replaceAll(/\s+/g, " ")
    .replace(/^[. ]+|[. ]+$/g, "");
  if (plain === "")
    throw new Error(`"${name}" cannot be the name of a file. Choose a name with letters or digits.`);
  return `${folder}/${plain}.album.md`;
}

/** Returns the page of an album in Markdown, which any viewer shows with its pictures. */
export function pageOf(name: string, photos: readonly string[], page: string): string {
  const up = "../".repeat(page.split("/").length - 1);
  const pictures = photos.map((path) => {
    const label = path.slice(path.lastIndexOf("/") + 1);
    return `![${escaped(label)}](<${up}${encoded(path)}>)`;
  });
  return `# ${escaped(name.replaceAll(/\s+/g, " ").trim())}\n\n${pictures.join("\n\n")}\n`;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\`*_[\]<>#!&]/g, String.raw`\$&`);
}

function encoded(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}
