package elem

// lastCache is a size that serves the Macs with Intel's processors; the others have no loops that write past the cache.
func lastCache() int64 { return 32 << 20 }
