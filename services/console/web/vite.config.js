// One page without anything from elsewhere, whose bytes follow from the tree alone.
export default {
  base: '/',
  logLevel: 'warn',
  build: {
    target: 'es2022',
    modulePreload: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000,
  },
};
