package device

// Storer is a device that stores what it has compiled for later processes.
type Storer interface {
	// Stored are the figures since the device was opened, or since ResetStored.
	Stored() Stored
	// ResetStored sets the counts to 0.
	ResetStored()
}

// Stored is what a device has stored, and what it found. All are 0 where it stores nothing.
type Stored struct {
	Hits, Misses int64 // programs that were loaded instead of compiled; those that were not there
	Writes       int64 // programs added
	Dropped      int64 // programs removed because they were damaged, or because the system did not load them
	Bytes        int64 // now on disk, as far as this process knows
}
