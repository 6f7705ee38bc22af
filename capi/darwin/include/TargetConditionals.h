/* What is compiled for: macOS, and no other system of Apple's. */
#ifndef PMPS_DARWIN_TARGETCONDITIONALS_H
#define PMPS_DARWIN_TARGETCONDITIONALS_H

#define TARGET_OS_MAC 1
#define TARGET_OS_OSX 1
#define TARGET_OS_IPHONE 0
#define TARGET_OS_SIMULATOR 0

#endif
