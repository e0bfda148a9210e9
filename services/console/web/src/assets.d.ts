// Style sheets are bundled, and have nothing to name; a picture is its address.
declare module '*.css';
declare module '*.svg' {
  const address: string;
  export default address;
}
