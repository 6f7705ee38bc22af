package device

// Censor is a device that says which parts of its maker's interface the running system has.
type Censor interface {
	// Census is the list as JSON; see pmps_device_census.
	Census() (string, error)
}
