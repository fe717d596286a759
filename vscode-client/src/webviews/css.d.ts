/** Style sheets are bundled beside the script that imports them; nothing of them is seen by the code. */
declare module "*.css" {}
