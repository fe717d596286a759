/** Style sheets are bundled with the script that imports them; the code does not use their contents. */
declare module "*.css" {}
