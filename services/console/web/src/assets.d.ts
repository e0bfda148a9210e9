// Style sheets are bundled, and have nothing to name.
declare module '*.css';
