/** What the page of a view is built from. */
interface PageParts {
  /** The source from which the editor serves the package's files. */
  readonly cspSource: string;
  readonly scriptUri: string;
  readonly styleUri: string;
  readonly nonce: string;
  readonly title: string;
}

/** Returns a page that can load its own script and style sheet, and nothing else. */
export function pageOf({ cspSource, scriptUri, styleUri, nonce, title }: PageParts): string {
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${cspSource}`,
    `img-src ${cspSource} data:`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${attribute(policy)}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${attribute(title)}</title>
    <link rel="stylesheet" href="${attribute(styleUri)}" />
  </head>
  <body>
    <script nonce="${attribute(nonce)}" src="${attribute(scriptUri)}"></script>
  </body>
</html>
`;
}

function attribute(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
